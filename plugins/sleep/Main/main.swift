import HandlerKit
import SleepStage
import StageKit

PluginProgram.run("sleep") { context in StageParts(handler: HandlerStage(SleepHandler(), context)) }
