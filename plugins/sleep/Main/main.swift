import PluginKit
import SleepStage

PluginProgram.run("sleep", SleepHandler())
