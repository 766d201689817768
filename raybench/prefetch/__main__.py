from raybench.prefetch.command import main

main()
