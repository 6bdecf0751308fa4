import PluginKit
import HeartRateStage

PluginProgram.run("heart-rate") { context in StageParts(stage: HandlerStage(HeartRateHandler(), context)) }
