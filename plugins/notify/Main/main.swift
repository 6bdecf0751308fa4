import Configuration
import NotifyStage
import Protocol
import StageKit

PluginProgram.run(.notify)
