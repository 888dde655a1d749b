"""Trains an LSTM to foretell the next value of a wave."""

import math
import random

from workload import optional, options, run_epochs, torch_device

ARGS = options(__doc__, epochs=5, size=0)
STEPS = 30


def wave(at):
    return math.sin(at / 5) + 0.5 * math.sin(at / 3)


def with_torch(torch):
    torch.manual_seed(ARGS.seed)
    device = torch_device(torch)
    count = ARGS.size or (8192 if device.type == "cuda" else 256)
    hidden = 256 if device.type == "cuda" else 32
    series = torch.tensor([[wave(k + i) for i in range(STEPS + 1)] for k in range(count)],
                          device=device).unsqueeze(2)
    lstm = torch.nn.LSTM(1, hidden, batch_first=True).to(device)
    head = torch.nn.Linear(hidden, 1).to(device)
    optimiser = torch.optim.Adam([*lstm.parameters(), *head.parameters()], lr=1e-3)

    def epoch(_):
        total = 0.0
        for at in range(0, count, 64):
            part = series[at:at + 64]
            optimiser.zero_grad()
            loss = torch.nn.functional.mse_loss(head(lstm(part[:, :-1])[0][:, -1]), part[:, -1])
            loss.backward()
            optimiser.step()
            total += float(loss.detach()) * len(part)
        return total / count

    run_epochs(ARGS.epochs, f"PyTorch on {device}", epoch)


def with_python():
    """The cells are drawn at random and stay so; what reads them is trained."""
    draw = random.Random(ARGS.seed)
    count, hidden = ARGS.size or 60, 12
    gates = [[[draw.uniform(-0.5, 0.5) for _ in range(hidden + 2)] for _ in range(hidden)]
             for _ in range(4)]
    head = [0.0] * (hidden + 1)

    def sigmoid(value):
        return 1 / (1 + math.exp(-value))

    def state_after(values):
        state, cell = [0.0] * hidden, [0.0] * hidden
        for value in values:
            known = [*state, value, 1.0]
            forget, enter, leave, new = (
                [sum(w * v for w, v in zip(row, known)) for row in gate] for gate in gates)
            for i in range(hidden):
                cell[i] = sigmoid(forget[i]) * cell[i] + sigmoid(enter[i]) * math.tanh(new[i])
                state[i] = sigmoid(leave[i]) * math.tanh(cell[i])
        return [*state, 1.0]

    def epoch(_):
        total = 0.0
        for k in range(count):
            known = state_after([wave(k + i) for i in range(STEPS)])
            error = sum(w * v for w, v in zip(head, known)) - wave(k + STEPS)
            total += error * error
            for i, value in enumerate(known):
                head[i] -= 0.05 * error * value
        return total / count

    run_epochs(ARGS.epochs, "plain Python", epoch)


if __name__ == "__main__":
    TORCH = optional("torch")
    with_torch(TORCH) if TORCH else with_python()
