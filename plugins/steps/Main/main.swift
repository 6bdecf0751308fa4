import HandlerKit
import StageKit
import StepsStage

PluginProgram.run("steps") { context in StageParts(handler: HandlerStage(StepsHandler(), context)) }
