import PluginKit
import StepsStage

PluginProgram.run("steps") { context in StageParts(stage: HandlerStage(StepsHandler(), context)) }
