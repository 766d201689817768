from raybench.cli import main

main()
