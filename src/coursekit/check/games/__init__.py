"""The games of `catch`, in the order of the book's chapters."""

from coursekit.check.games import attention, sequences, vision
from coursekit.check.games.game import Game

GAMES: dict[str, Game] = {
    game.name: game for part in (attention, sequences, vision) for game in part.GAMES
}
