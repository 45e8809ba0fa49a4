"""Draws the figure of the noise experiment as SVG."""

COLORS = ("#1b6ca8", "#2a9d8f", "#c1121f", "#7f1d1d", "#f4a261", "#e9c46a", "#b5838d", "#6d597a", "#355070")


def noise(errors, sigmas, epsilons):
    """Draw the relative errors of the digits over sigma, for the paper's distances only."""
    shown = ["w2", "lot", "mmd, unbiased", "mmd, biased", *(f"W_eps, epsilon {e}" for e in epsilons)]
    lines = {key: errors["digits", key] for key in shown if ("digits", key) in errors}
    low, high = min(0.0, *(min(v) for v in lines.values())), max(0.1, *(max(v) for v in lines.values()))
    step = 390 / sigmas[-1]

    def y(value):
        return 260 - 230 * (value - low) / (high - low)

    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 310" font-family="sans-serif" font-size="12">',
           '<rect width="660" height="310" fill="#fff"/>', '<path d="M60,30 V260 H450" fill="none" stroke="#888"/>']
    out += [f'<text x="{60 + step * s:.0f}" y="278" text-anchor="middle">{s:g}</text>' for s in sigmas]
    for k in range(5):
        value = low + (high - low) * k / 4
        out.append(f'<text x="54" y="{y(value) + 4:.0f}" text-anchor="end">{value:.2f}</text>')
    for k, (key, values) in enumerate(lines.items()):
        points = " ".join(f"{60 + step * s:.1f},{y(v):.1f}" for s, v in zip(sigmas, values))
        out += [f'<polyline points="{points}" fill="none" stroke="{COLORS[k]}" stroke-width="2"/>',
                f'<text x="475" y="{45 + 20 * k}" fill="{COLORS[k]}">{key}</text>']
    return "\n".join([*out, '<text x="255" y="300" text-anchor="middle">sigma of the noise, in pixels</text>', "</svg>", ""])
