import HydrationStage
import PluginKit

PluginProgram.run("hydration", HydrationHandler())
