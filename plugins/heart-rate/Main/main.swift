import HeartRateStage
import PluginKit

PluginProgram.run("heart-rate", HeartRateHandler())
