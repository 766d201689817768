"""The three steps whose code is given: what follows builds on it, and no model is asked for it.

Upstream keeps this code in files of its own ('13.6.txt' …), which the hub's dataset lacks. Where
such a file lies beside the questions it is taken; else the code below, which does the same: classes
with the attributes that the step's header names, and a generator that draws the same random numbers
in the same order, for the targets depend on them.
"""

GIVEN = {
    "13.6": '''class Maxwell:
    """Fields on a grid of cell centres in the octant of positive x, y and z."""

    def __init__(self, n_grid, x_out):
        self.n_grid = n_grid
        self.n_vars = 7
        self.delta = float(x_out) / (n_grid - 2.0)
        axis = np.linspace(-self.delta * 0.5, x_out + 0.5 * self.delta, n_grid)
        self.x = axis[:, None, None]
        self.y = axis[None, :, None]
        self.z = axis[None, None, :]
        self.r = np.sqrt(self.x**2 + self.y**2 + self.z**2)
        for name in ("E_x", "E_y", "E_z", "A_x", "A_y", "A_z", "phi", "constraint"):
            setattr(self, name, np.zeros((n_grid, n_grid, n_grid)))
        self.t = 0.0
''',
    "62.1": '''class Block:
    """A block: its length, the size of its basis, and its operators by name."""

    def __init__(self, length, basis_size, operator_dict):
        self.length = length
        self.basis_size = basis_size
        self.operator_dict = operator_dict

    def print_all(self):
        print("length:", self.length)
        print("basis size:", self.basis_size)
        for name, operator in self.operator_dict.items():
            table = operator if isinstance(operator, np.ndarray) else operator.toarray()
            print(f"{name}:\\n{table}\\n")


class EnlargedBlock(Block):
    """A block with one more site."""
''',
    "76.3": '''def generate_dna(N, PWM):
    """Return where a motif was put, the sequence, and the complement's with the motif in it."""
    letters = "ACGT"
    place = random.randint(0, N - 1)
    background = "".join(random.choices(letters, [0.25] * 4, k=N))
    load_motif_from_df(PWM)
    motif = ""
    for column in range(len(PWM["A"])):
        weights = [PWM[letter][column] for letter in letters]
        motif += random.choices(letters, weights=weights, k=1)[0]
    complement = background[::-1].translate(str.maketrans("ACGT", "TGCA"))
    sequence = background[:place] + motif + background[place:]
    reverse = complement[: N - place] + motif + complement[N - place :]
    return place, sequence, reverse
''',
}
