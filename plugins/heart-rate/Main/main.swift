import HandlerKit
import HeartRateStage
import StageKit

PluginProgram.run("heart-rate") { context in StageParts(handler: HandlerStage(HeartRateHandler(), context)) }
