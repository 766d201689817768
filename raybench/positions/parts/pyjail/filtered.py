"""Jails that look at code before they run it: at its syntax tree, or by a pattern."""

from raybench.positions.parts.pyjail.lot import Jail, Lot


def no_attributes(lot: Lot) -> Jail:
    """Refuse expressions with a dot."""
    source = """
        import ast


        def jail(user_input):
            $tree = ast.parse(user_input, mode="eval")
            for $node in ast.walk($tree):
                if isinstance($node, (ast.Attribute, ast.Lambda)):
                    return "$no"
            return eval(compile($tree, "<$where>", "eval"))
        """
    tree, node, where = lot.names(3)
    filled = lot.filled(source, tree=tree, node=node, where=where)
    return Jail(filled, "vars(__import__('os'))['environ']")


def no_calls(lot: Lot) -> Jail:
    """Refuse statements that call something."""
    source = """
        import ast


        def $check($tree):
            return not any(isinstance($node, ast.Call) for $node in ast.walk($tree))


        def jail(user_input):
            if not $check(ast.parse(user_input)):
                return "$no"
            exec(user_input)
            return "$done"
        """
    check, tree, node, done = lot.names(4)
    filled = lot.filled(source, check=check, tree=tree, node=node, done=done.title())
    return Jail(filled, "import os\nassert not os.environ, os.environ")


def begins(lot: Lot) -> Jail:
    """Look at how an expression begins, and not at how it goes on."""
    source = r"""
        import re

        $sums = re.compile(r"\d+ ?[$signs] ?\d+")


        def jail(user_input):
            if $sums.match(user_input) is None:
                return "$no"
            $value = eval(user_input)
            return f"$value: {$value}"
        """
    sums, value = lot.names(2)
    signs = "".join(lot.mixed("+", "*", "/"))
    filled = lot.filled(source, sums=sums, value=value, signs=signs)
    return Jail(filled, "1+1 and __import__('os').environ")


def one_line(lot: Lot) -> Jail:
    """Look for one line that will do, where there may be several."""
    harmless, line = lot.names(2)
    source = """
        import re


        def jail(user_input):
            $line = re.search("^$harmless = [0-9]+$$", user_input, re.MULTILINE)
            if not $line:
                return "$no"
            exec(user_input)
            return $line.group()
        """
    filled = lot.filled(source, line=line, harmless=harmless)
    return Jail(filled, f"{harmless} = 1\nprint(__import__('os').environ['FLAG'])")
