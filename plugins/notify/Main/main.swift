import NotifyStage
import PluginKit

PluginProgram.run(.notify)
