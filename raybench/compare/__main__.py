from raybench.compare.command import main

main()
