import Configuration
import ObserverStage
import StageKit

PluginProgram.run(.observer)
