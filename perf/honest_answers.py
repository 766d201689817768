"""Questions of our own, each with an answer that is good and one that is bad.

The bad ones are wrong, off the point, or nonsense, in turns: what judges are told to rate 1 or 2.
"""

from typing import NamedTuple


class Asked(NamedTuple):
    """A question and two answers to it."""

    question: str
    good: str
    bad: str


ASKED = (
    Asked(
        "A train covers 180 km in 2 hours and 15 minutes. What is its mean speed in km/h?",
        "80 km/h: 2 h 15 min are 2.25 h, and 180 km divided by 2.25 h is 80 km/h.",
        "It is 180 km/h, because the train covers 180 km.",
    ),
    Asked(
        "What is the sum of the interior angles of a hexagon?",
        "720 degrees: a polygon with n sides has (n − 2) · 180°, and 4 · 180° = 720°.",
        "Hexagons are found in honeycombs, and bees are useful insects that make honey.",
    ),
    Asked(
        "A bag holds 3 red and 5 blue balls. Two are drawn without putting back. How likely are "
        "two red ones?",
        "3/28, about 0.107: the first is red with 3/8, the second then with 2/7; 6/56 = 3/28.",
        "ball ball fifteen window of red and the and green seventeen, moreover trousers",
    ),
    Asked(
        "Solve for x: 3x − 7 = 2x + 5.",
        "x = 12. Subtracting 2x gives x − 7 = 5, and adding 7 gives x = 12.",
        "x = −2. Adding 3x and 2x gives 5x, and −7 + 5 is −2.",
    ),
    Asked(
        "What does a central bank do when it raises its key interest rate, and why?",
        "It makes borrowing dearer for banks, which pass this on. People and firms borrow and "
        "spend less, which slows the rise of prices; the price is weaker growth.",
        "I like the news. There are many channels and they show it in the evening.",
    ),
    Asked(
        "Name two reasons why ships are rerouted round the Cape of Good Hope.",
        "Danger on the way through the Red Sea, such as attacks on ships, and a closed or "
        "overfull Suez Canal. The detour costs one to two weeks and more fuel.",
        "cape cape hope ship 44 purple because lemon under the under the ships ships rain",
    ),
    Asked(
        "Write a two-line poem about the first snow of the year.",
        "The street forgets its colours overnight;\nat dawn each fence-post wears a cap of white.",
        "Snow is frozen water. The melting point of water is 50 degrees Celsius.",
    ),
    Asked(
        "Invent a name and a slogan for a bakery that opens at night.",
        "Name: The Late Loaf. Slogan: “We rise when you can't sleep.”",
        "A bakery is a shop. Tyres should be changed every four years at the latest.",
    ),
    Asked(
        "Describe the smell of rain on dry ground in one sentence.",
        "It is warm and dusty and green at once, as if the ground had held its breath all summer "
        "and now let it go.",
        "smell of of seven carpet engine, rain jump the quickly spoon ground nothing of",
    ),
    Asked(
        "All florists are early risers. No early riser is a night guard. Can a florist be a night "
        "guard?",
        "No. Every florist is an early riser, and no early riser is a night guard; so no florist "
        "is one.",
        "Yes. Some florists work at night, so all night guards are florists.",
    ),
    Asked(
        "Of three boxes one holds a coin, and exactly one label is true. A: 'It is here.' B: 'It "
        "is not here.' C: 'It is not in A.' Where is the coin?",
        "In B. Were it in A, A and B would be true; were it in C, B and C would be. In B, only C's "
        "label is true.",
        "Coins were first made in Lydia. Many people collect them in albums.",
    ),
    Asked(
        "If today is Wednesday, what day will it be in 100 days?",
        "Friday: 100 = 14 · 7 + 2, so the day moves on by two from Wednesday.",
        "hundred the the day green of Wednesday triangle, soup walks seven under Thursday cat",
    ),
    Asked(
        "Correct the sentence: 'Each of the students have their own book.'",
        "'Each of the students has their own book.' The subject is 'each', which is singular, so "
        "the verb is 'has'.",
        "'Each of the student haves they own books.' The verb is 'haves', as in all plurals.",
    ),
    Asked(
        "What is the difference between 'its' and 'it's'?",
        "'Its' shows possession (the dog wags its tail); 'it's' is short for 'it is' or 'it has' "
        "(it's raining).",
        "Dogs wag their tails when they are happy. Cats do so when they are not.",
    ),
    Asked(
        "Put into the passive voice: 'The committee will announce the results.'",
        "'The results will be announced by the committee.'",
        "results committee of the of will of blue, announcing seven spoons passive and jump",
    ),
    Asked(
        "What does the Python expression [x * x for x in range(4)] give?",
        "[0, 1, 4, 9]: range(4) runs through 0, 1, 2, 3, and each number is squared.",
        "It gives [1, 2, 3, 4, 5], because range(4) counts to five.",
    ),
    Asked(
        "Why is binary search faster than linear search, and what does it need?",
        "It halves what is left with every comparison, so n items take about log2(n) steps and not "
        "n. It needs sorted data and access by position.",
        "Searching is a hobby of many people. You should first look under the sofa.",
    ),
    Asked(
        "What is the difference between a list and a tuple in Python?",
        "A list can be changed after it is made, a tuple cannot; so a tuple of hashable items can "
        "be a key of a dictionary.",
        "tuple tuple list window 9 9 9 rain bracket is of is of the python snake zoo",
    ),
    Asked(
        "Why did the Western Roman Empire fall? Name two causes.",
        "Among others: pressure and settlement of peoples from outside that the army could no "
        "longer hold, and inner weakness, such as civil wars and a shrinking tax income.",
        "It fell in 1815 at Waterloo, because Napoleon had conquered Rome with elephants.",
    ),
    Asked(
        "What was the Rosetta Stone important for?",
        "It carries one decree in hieroglyphs, Demotic and Greek. As Greek was known, scholars, "
        "above all Champollion, could decipher the hieroglyphs.",
        "Stones are hard. Granite makes good kitchen tops, which are easy to clean.",
    ),
    Asked(
        "In which century was the printing press with movable type introduced in Europe, and by "
        "whom?",
        "In the 15th century, around 1450, by Johannes Gutenberg in Mainz.",
        "press the press of century onion, of movable seventeen the and and lamp of sheep",
    ),
    Asked(
        "What is the capital of Australia?",
        "Canberra. It was chosen as a compromise between Sydney and Melbourne.",
        "The capital of Australia is Vienna, on the river Nile.",
    ),
    Asked(
        "Who wrote 'Don Quixote', and what is it about?",
        "Miguel de Cervantes. A landowner who has read too many romances of chivalry sets out as a "
        "knight and takes windmills for giants.",
        "Books are made of paper. Paper comes from trees, and trees grow in the wood.",
    ),
    Asked(
        "Which instruments make up a string quartet?",
        "Two violins, a viola and a cello.",
        "quartet string of the potato, eleven violins swim under of a of the moon tin",
    ),
    Asked(
        "Why is the sky blue?",
        "Molecules of the air scatter short waves of sunlight much more than long ones, so blue "
        "light reaches us from all parts of the sky.",
        "The sky is blue because it mirrors the blue paint on the ceiling of space.",
    ),
    Asked(
        "What happens to the boiling point of water on a high mountain, and why?",
        "It falls, because the air pressure is lower there: on 3000 m water boils at about 90 °C.",
        "Mountains are beautiful. Take good shoes and something to eat with you.",
    ),
    Asked(
        "What do plants need for photosynthesis, and what do they make?",
        "They need light, water and carbon dioxide, and make sugar and oxygen.",
        "plants plants sugar door of 88 light the the trombone made of made of Tuesday",
    ),
    Asked(
        "What does the 'S' in HTTPS stand for, and what does it give?",
        "'Secure': the connection is encrypted with TLS, so that others can neither read nor "
        "change it, and the server shows a certificate of who it is.",
        "It stands for 'Slow'. HTTPS sends every page by post, to save electricity.",
    ),
    Asked(
        "Why do batteries of phones lose capacity over the years?",
        "Side reactions use up lithium and build a growing layer on the anode. Heat, full charges "
        "and deep discharges speed them up.",
        "Phones were once fixed to the wall. The first ones had a dial with holes.",
    ),
    Asked(
        "What is the difference between RAM and an SSD?",
        "RAM is fast working memory that forgets without power; an SSD is slower and keeps data "
        "for good.",
        "ram ram goat SSD of of the purple, memory ninety cheese wheels and under stairs",
    ),
    Asked(
        "How many seconds are there in a leap year?",
        "31,622,400: 366 days times 86,400 seconds.",
        "There are 1,000 seconds, since a leap year has one day more than the others.",
    ),
    Asked(
        "Explain in two sentences what inflation is.",
        "Inflation is a lasting rise of the general level of prices. The same money buys less and "
        "less.",
        "I had a balloon when I was small. It was red, and it flew away at the fair.",
    ),
    Asked(
        "What is a metaphor? Give an example.",
        "A metaphor calls one thing another to show a likeness, without 'like' or 'as': 'Time is a "
        "thief.'",
        "metaphor of of the lamp 12 12 walks, example grass quickly the under bishop tin",
    ),
    Asked(
        "Which planet has the shortest year, and how long is it?",
        "Mercury: it goes round the Sun in about 88 days.",
        "Neptune, because it is the smallest planet; its year takes two hours.",
    ),
    Asked(
        "How does a vaccine protect against a disease?",
        "It shows the immune system a harmless part or form of the germ. Memory cells and "
        "antibodies remain, which act quickly when the real germ comes.",
        "The waiting room has six chairs. On the table there are magazines.",
    ),
    Asked(
        "What is the worst-case running time of bubble sort, and why?",
        "O(n²): in a list in reverse order each of the n passes compares up to n − 1 neighbours.",
        "bubble bubble sort of the bath, foam 3 3 3 because list spoon of running shoes",
    ),
)
