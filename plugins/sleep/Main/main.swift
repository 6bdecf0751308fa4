import PluginKit
import SleepStage

PluginProgram.run("sleep") { context in StageParts(stage: HandlerStage(SleepHandler(), context)) }
