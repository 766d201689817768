"""A Ray of our own starts without the processes that nobody asks anything of."""

from ray._private.node import Node

from raybench.fleet.bystanders import BYSTANDERS, without_bystanders


def test_ray_starts_them_by_methods_of_that_name_and_does_so_again_afterwards() -> None:
    before = [getattr(Node, name) for name in BYSTANDERS]
    with without_bystanders():
        assert not {*before} & {getattr(Node, name) for name in BYSTANDERS}
    assert [getattr(Node, name) for name in BYSTANDERS] == before
    started = (
        Node.start_head_processes.__code__.co_names + Node.start_ray_processes.__code__.co_names
    )
    assert set(BYSTANDERS) <= {*started}
