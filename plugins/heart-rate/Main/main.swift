import HandlerKit
import HeartRateStage
import StageKit

PluginProgram.run("heart-rate", HeartRateHandler())
