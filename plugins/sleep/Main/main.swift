import HandlerKit
import SleepStage
import StageKit

PluginProgram.run("sleep", SleepHandler())
