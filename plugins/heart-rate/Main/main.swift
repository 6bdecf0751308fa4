import HeartRateStage
import PluginKit

PluginProgram.run("heart-rate") { context in StageParts(stage: HandlerStage(HeartRateHandler(), context)) }
