"""Trains a small convolutional network to tell made-up images apart: which quarter is bright?"""

import math
import random

from workload import optional, options, run_epochs, torch_device

ARGS = options(__doc__, epochs=5, size=0)
SIDE = 16


def with_torch(torch):
    torch.manual_seed(ARGS.seed)
    device = torch_device(torch)
    count = ARGS.size or (20000 if device.type == "cuda" else 512)
    labels = torch.randint(0, 4, (count,), device=device)
    images = torch.rand(count, 1, SIDE, SIDE, device=device)
    half = SIDE // 2
    for quarter in range(4):
        y, x = quarter // 2 * half, quarter % 2 * half
        images[labels == quarter, :, y:y + half, x:x + half] += 0.5
    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
        torch.nn.Flatten(), torch.nn.Linear(32 * (SIDE // 4) ** 2, 4)).to(device)
    optimiser = torch.optim.Adam(net.parameters(), lr=1e-3)

    def epoch(_):
        total = 0.0
        for at in range(0, count, 128):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(images[at:at + 128]),
                                                     labels[at:at + 128])
            loss.backward()
            optimiser.step()
            total += float(loss.detach()) * len(labels[at:at + 128])
        return total / count

    run_epochs(ARGS.epochs, f"PyTorch on {device}", epoch)


def with_python():
    """Four filters over the image, their means, and a softmax: the same idea on its smallest scale."""
    draw = random.Random(ARGS.seed)
    count, half, filters = ARGS.size or 40, SIDE // 2, 4
    data = []
    for _ in range(count):
        label = draw.randrange(4)
        image = [[draw.random() + (0.5 if (y // half) * 2 + x // half == label else 0)
                  for x in range(SIDE)] for y in range(SIDE)]
        data.append((image, label))
    kernels = [[[draw.uniform(-1, 1) for _ in range(3)] for _ in range(3)] for _ in range(filters)]
    weights = [[0.0] * (filters * 4) for _ in range(4)]

    def features(image):
        sums = [0.0] * (filters * 4)
        for f, kernel in enumerate(kernels):
            for y in range(1, SIDE - 1):
                for x in range(1, SIDE - 1):
                    value = sum(kernel[i][j] * image[y + i - 1][x + j - 1]
                                for i in range(3) for j in range(3))
                    sums[f * 4 + (y // half) * 2 + x // half] += max(value, 0) / half ** 2
        return sums

    def epoch(_):
        total = 0.0
        for image, label in data:
            known = features(image)
            scores = [sum(w * v for w, v in zip(row, known)) for row in weights]
            top = max(scores)
            odds = [math.exp(score - top) for score in scores]
            total -= math.log(odds[label] / sum(odds))
            for k, row in enumerate(weights):
                step = 0.1 * (odds[k] / sum(odds) - (k == label))
                for i, value in enumerate(known):
                    row[i] -= step * value
        return total / count

    run_epochs(ARGS.epochs, "plain Python", epoch)


if __name__ == "__main__":
    TORCH = optional("torch")
    with_torch(TORCH) if TORCH else with_python()
