"""What the games tell players, sentence by sentence, with the same in other words: data.

One file for each game, and one for what several of them say. A sentence stands as the game says it
(`of`), with names in braces for what varies, and beside that in four manners. `slots` says what may
stand in for a name: an expression that cannot reach beyond the sentence. Sentences come in the
game's own order; not every game says all of them.
"""
