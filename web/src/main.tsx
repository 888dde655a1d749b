import { render } from "preact";

render(<h1>berth</h1>, document.body);
