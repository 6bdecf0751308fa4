import HandlerKit
import HydrationStage
import StageKit

PluginProgram.run("hydration", HydrationHandler())
