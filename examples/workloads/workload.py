"""What the example tasks share: their options, and what there is to compute with."""

import argparse
import importlib
import time


def optional(name):
    """The module, or None where it is not installed or does not load."""
    try:
        return importlib.import_module(name)
    except Exception:  # pylint: disable=broad-except  # half-installed drivers raise all kinds
        return None


def options(about, epochs, size):
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--size", type=int, default=size)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def torch_device(torch):
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def tensorflow_with_gpu():
    """TensorFlow, if it is there and sees a GPU."""
    tensorflow = optional("tensorflow")
    return tensorflow if tensorflow and tensorflow.config.list_physical_devices("GPU") else None


def run_epochs(count, using, epoch):
    """Calls epoch(i) and prints what it returns, with the time that it took."""
    print(f"computing with {using}", flush=True)
    for i in range(count):
        begin = time.monotonic()
        value = epoch(i)
        print(f"epoch {i + 1}/{count}: {value:.6g} ({time.monotonic() - begin:.2f} s)", flush=True)
