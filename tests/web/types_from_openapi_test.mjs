// What web/types_from_openapi.mjs makes of each construct of a document.
import assert from "node:assert/strict";
import { test } from "node:test";
import { typesFromOpenApi } from "../../web/types_from_openapi.mjs";

/// The declarations, without the comment at the file's head.
function declared(yaml) {
  return typesFromOpenApi(yaml).split("\n").slice(2).join("\n").trimEnd();
}

function indented(yaml, by) {
  return yaml.trim().replace(/^/gm, " ".repeat(by));
}

function ofSchemas(yaml) {
  return declared(`components:\n  schemas:\n${indented(yaml, 4)}`);
}

// A property of `T`, and what becomes of it.
const properties = [
  ["a text", "a: {type: string}", "a?: string;"],
  ["a truth", "a: {type: boolean}", "a?: boolean;"],
  ["a whole number", "a: {type: integer, minimum: 0, maximum: 9, default: 1}", "a?: number;"],
  ["one of two that are the same", "a: {type: [integer, number]}", "a?: number;"],
  ["a text or none", 'a: {type: [string, "null"]}', "a?: string | null;"],
  ["a choice", "a: {type: string, enum: [x, y]}", 'a?: "x" | "y";'],
  ["a choice or none", 'a: {type: [string, "null"], enum: [x, null]}', 'a?: "x" | null;'],
  ["a constant", "a: {type: boolean, const: true}", "a?: true;"],
  ["anything", "a: {}", "a?: unknown;"],
  ["a schema with a name", 'a: {$ref: "#/components/schemas/S"}', "a?: S;"],
  ["a description beside it", 'a: {$ref: "#/components/schemas/S", description: Of it.}', "/** Of it. */\na?: S;"],
  ["a property of another", 'a: {$ref: "#/components/schemas/S/properties/s"}', "/** Said there. */\na?: string | null;"],
  ["a list", "a: {type: array, items: {type: string}, maxItems: 9}", "a?: string[];"],
  ["a list with gaps", 'a: {type: array, items: {type: [number, "null"]}}', "a?: (number | null)[];"],
  ["a list of choices", "a: {type: array, items: {enum: [x, y]}}", 'a?: ("x" | "y")[];'],
  ["a list of named ones", 'a: {type: array, items: {$ref: "#/components/schemas/S"}}', "a?: S[];"],
  ["a list of lists", "a: {type: array, items: {type: array, items: {type: string}}}", "a?: string[][];"],
  ["a few in a row", "a: {type: array, minItems: 2, maxItems: 2, items: {type: number}}", "a?: [number, number];"],
  ["a text or a list", "a: {type: [string, array], items: {type: string}}", "a?: string | string[];"],
  ["a map", "a: {type: object, additionalProperties: {type: number}}", "a?: Record<string, number>;"],
  ["a map or none", 'a: {type: [object, "null"], additionalProperties: {type: string}}', "a?: Record<string, string> | null;"],
  [
    "a map by known names",
    "a: {type: object, propertyNames: {enum: [x, y]}, additionalProperties: {type: number}}",
    'a?: Partial<Record<"x" | "y", number>>;',
  ],
  ["an object with nothing in it", "a: {type: object, additionalProperties: false}", "a?: Record<string, never>;"],
  [
    "an object",
    "a: {type: object, required: [x], properties: {x: {type: string}, y: {type: number}}}",
    "a?: {\n  x: string;\n  y?: number;\n};",
  ],
  ["an object or none", 'a: {type: [object, "null"], properties: {x: {type: string}}}', "a?: {\n  x?: string;\n} | null;"],
  [
    "a list of objects",
    "a: {type: array, items: {type: object, properties: {x: {type: string}}}}",
    "a?: {\n  x?: string;\n}[];",
  ],
  ["one of several", 'a: {oneOf: [{type: string}, {$ref: "#/components/schemas/S"}]}', "a?: string | S;"],
  ["any of several", "a: {anyOf: [{type: string}, {type: number}, {type: integer}]}", "a?: string | number;"],
  [
    "more of a named one",
    'a: {allOf: [{$ref: "#/components/schemas/S"}], properties: {x: {type: string}}}',
    "a?: S & {\n  x?: string;\n};",
  ],
  [
    "a list of such",
    'a: {type: array, items: {allOf: [{$ref: "#/components/schemas/S"}], properties: {x: {type: string}}}}',
    "a?: (S & {\n  x?: string;\n})[];",
  ],
  ["a name that is no word", "a-b: {type: string}", '"a-b"?: string;'],
  ["a long description", "a: {type: string, description: \"One.\\n\\nTwo */.\"}", "/**\n * One.\n *\n * Two *\\/.\n */\na?: string;"],
];

for (const [name, yaml, expected] of properties) {
  test(`a property: ${name}`, () => {
    const other = 'S: {type: object, properties: {s: {type: [string, "null"], description: Said there.}}}';
    const found = ofSchemas(`${other}\nT:\n  type: object\n  properties:\n    ${yaml}`);
    assert.equal(found.slice(found.indexOf("export interface T")), `export interface T {\n${indented(expected, 2)}\n}`);
  });
}

const schemas = [
  ["a name for a choice", "T: {type: string, enum: [x, y]}", 'export type T = "x" | "y";'],
  ["a name for a constant", "T: {type: integer, const: 1}", "export type T = 1;"],
  ["a description", "T: {type: string, description: What it is.}", "/** What it is. */\nexport type T = string;"],
  ["an object or none", 'T: {type: [object, "null"], properties: {x: {type: string}}}', "export type T = {\n  x?: string;\n} | null;"],
  [
    "what must be there",
    "T: {type: object, required: [x], additionalProperties: false, properties: {x: {type: string}, y: {type: string}}}",
    "export interface T {\n  x: string;\n  y?: string;\n}",
  ],
  [
    "parts with names",
    `
A: {type: object, required: [a], properties: {a: {type: string}}}
T:
  type: object
  unevaluatedProperties: false
  allOf: [{$ref: "#/components/schemas/A"}]
  required: [b]
  properties: {b: {type: number}}`,
    "export interface A {\n  a: string;\n}\n\nexport interface T extends A {\n  b: number;\n}",
  ],
  [
    "a part that asks for what another has",
    `
A: {type: object, properties: {a: {type: string, description: Of A.}, c: {type: string}}}
B: {type: object, required: [a, b], properties: {b: {type: string}}}
T: {allOf: [{$ref: "#/components/schemas/A"}, {$ref: "#/components/schemas/B"}]}`,
    `export interface A {
  /** Of A. */
  a?: string;
  c?: string;
}

export interface B {
  b: string;
}

export interface T extends A, B {
  /** Of A. */
  a: string;
}`,
  ],
  [
    "a part without a name",
    "T: {allOf: [{type: object, required: [x], properties: {x: {type: string}}}], properties: {y: {type: string}}}",
    "export interface T {\n  x: string;\n  y?: string;\n}",
  ],
];

for (const [name, yaml, expected] of schemas) {
  test(`a schema: ${name}`, () => assert.equal(ofSchemas(yaml), expected));
}

test("routes: what is answered and taken, and the events of a stream", () => {
  const found = declared(`
paths:
  /v1/jobs:
    post:
      summary: Queue jobs
      requestBody: {content: {application/json: {schema: {type: object, properties: {a: {type: string}}}}}}
      responses:
        "200": {$ref: "#/components/responses/Fine"}
        "400": {content: {application/json: {schema: {type: string}}}}
  /v1/jobs/{id}:
    get:
      parameters: [{$ref: "#/components/parameters/id"}]
      responses: {"200": {content: {application/json: {schema: {type: number}}}}}
  /v1/files/{name}:
    get:
      parameters: [{name: name, in: path, schema: {type: string}}]
      responses: {"200": {content: {application/json: {schema: {type: boolean}}}}}
  /v1/log:
    get:
      responses: {"200": {content: {application/octet-stream: {}}}}
  /v1/events:
    get:
      responses: {"200": {content: {text/event-stream: {schema: {type: string}, x-events: {hello: {type: string}}}}}}
components:
  parameters:
    id: {name: id, in: path, schema: {type: integer}}
  responses:
    Fine: {content: {application/json: {schema: {type: string}}}}
`);
  assert.equal(
    found,
    `/** What GET answers when all is well, by path. */
export interface GetAnswers {
  [path: \`/v1/jobs/\${number}\`]: number;
  [path: \`/v1/files/\${string}\`]: boolean;
}

/** What POST answers when all is well, by path. */
export interface PostAnswers {
  /** Queue jobs */
  "/v1/jobs": string;
}

/** What POST takes, by path. */
export interface PostBodies {
  /** Queue jobs */
  "/v1/jobs": {
    a?: string;
  };
}

/** What the stream of events tells, by the event's name. */
export interface Events {
  hello: string;
}`,
  );
});

const refused = [
  ["a word it does not know", "T: {type: object, properties: {a: {type: string, nullable: true}}}", /T\.a: “nullable” is not understood/],
  ["in a part, too", "T: {allOf: [{type: object, if: {}}]}", /T: “if” is not understood/],
  ["a type it does not know", "T: {type: text}", /T: the type “text” is not known/],
  ["a reference to nothing", 'T: {$ref: "#/components/schemas/U"}', /#\/components\/schemas\/U is not there/],
  ["more beside a reference", 'U: {type: string}\nT: {$ref: "#/components/schemas/U", enum: [x]}', /T: “enum” beside \$ref/],
  [
    "others beside named properties",
    "T: {type: object, properties: {a: {type: string}}, additionalProperties: {type: string}}",
    /T: named properties and others/,
  ],
];

for (const [name, yaml, message] of refused) {
  test(`refused: ${name}`, () => assert.throws(() => ofSchemas(yaml), { message }));
}

test("refused: a method that the page has no use for", () => {
  const yaml = 'paths: {/v1/jobs: {put: {responses: {"200": {content: {application/json: {schema: {type: string}}}}}}}}';
  assert.throws(() => typesFromOpenApi(yaml), { message: /put \/v1\/jobs/ });
});
