"""The laws of the largest excursion and of the range of a Brownian motion, to 20 digits.

    python tests/oracles/brownian_digits.py        (with mpmath)

Each law by both of its series in 60 digits, which are compared first. What it prints is kept in
`test_score_oracles.py`.
"""

import sys
from typing import Any

POINTS = (
    "0.1", "0.2", "0.3", "0.5", "1.0", "1.19", "1.2", "1.21", "1.5", "1.99", "2.0", "2.01",
    "2.5", "3.0", "4.0", "6.0", "8.0", "12.0", "20.0", "25.0", "35.0",
)  # fmt: skip


def main() -> None:
    """Print x, then cdf and tail of the excursion, then of the range."""
    from mpmath import erfc, exp, mp, mpf, nstr, pi, sqrt

    mp.dps = 60

    def tail(x: Any) -> Any:
        return erfc(x / sqrt(2)) / 2

    def excursion(x: Any) -> tuple[Any, Any]:
        near = (
            4
            / pi
            * sum(
                mpf(-1) ** k / (2 * k + 1) * exp(-((2 * k + 1) ** 2) * pi**2 / (8 * x * x))
                for k in range(400)
            )
        )
        return near, 4 * sum(mpf(-1) ** k * tail((2 * k + 1) * x) for k in range(400))

    def spread(x: Any) -> tuple[Any, Any]:
        steps = [(2 * j + 1) * pi for j in range(400)]
        near = 8 * sum((1 / x**2 + 1 / a**2) * exp(-a * a / (2 * x * x)) for a in steps)
        return near, 8 * sum(mpf(-1) ** (k - 1) * k * tail(k * x) for k in range(1, 800))

    for text in POINTS:
        found = []
        # As the double that a program is given, not as the decimal fraction.
        for law in (excursion, spread):
            cdf, above = law(mpf(float(text)))
            if abs(cdf + above - 1) > mpf(10) ** -50:
                sys.exit(f"the series differ at {text}")
            found += [nstr(cdf, 20), nstr(above, 20)]
        sys.stdout.write(f"    ({text}, {', '.join(repr(word) for word in found)}),\n")


if __name__ == "__main__":
    main()
