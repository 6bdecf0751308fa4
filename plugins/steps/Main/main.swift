import PluginKit
import StepsStage

PluginProgram.run("steps", StepsHandler())
