import ObserverStage
import PluginKit

PluginProgram.run(.observer)
