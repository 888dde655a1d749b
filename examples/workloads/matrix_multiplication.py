"""Multiplies square matrices, one product an epoch."""

import random

from workload import optional, options, run_epochs, tensorflow_with_gpu, torch_device

ARGS = options(__doc__, epochs=20, size=0)


def main():
    torch, tensorflow, numpy = optional("torch"), None, optional("numpy")
    if not torch:
        tensorflow = tensorflow_with_gpu()
    if torch:
        torch.manual_seed(ARGS.seed)
        device = torch_device(torch)
        n = ARGS.size or (8192 if device.type == "cuda" else 768)
        a, b = (torch.rand(n, n, device=device) for _ in range(2))
        run_epochs(ARGS.epochs, f"PyTorch on {device}, {n} × {n}",
                   lambda i: float((a @ b).trace()) / n)
    elif tensorflow:
        n = ARGS.size or 8192
        a, b = (tensorflow.random.uniform((n, n)) for _ in range(2))
        run_epochs(ARGS.epochs, f"TensorFlow, {n} × {n}",
                   lambda i: float(tensorflow.linalg.trace(a @ b)) / n)
    elif numpy:
        draw = numpy.random.default_rng(ARGS.seed)
        n = ARGS.size or 768
        a, b = (draw.random((n, n)) for _ in range(2))
        run_epochs(ARGS.epochs, f"NumPy, {n} × {n}", lambda i: float((a @ b).trace()) / n)
    else:
        draw = random.Random(ARGS.seed)
        n = ARGS.size or 120
        a, b = ([[draw.random() for _ in range(n)] for _ in range(n)] for _ in range(2))

        def product(_):
            columns = list(zip(*b))
            c = [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]
            return sum(c[i][i] for i in range(n)) / n

        run_epochs(ARGS.epochs, f"plain Python, {n} × {n}", product)


if __name__ == "__main__":
    main()
