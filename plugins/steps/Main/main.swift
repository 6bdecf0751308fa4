import HandlerKit
import StageKit
import StepsStage

PluginProgram.run("steps", StepsHandler())
