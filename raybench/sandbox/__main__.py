from raybench.sandbox.environments import main

main()
