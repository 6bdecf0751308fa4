import GenericStage
import PluginKit

PluginProgram.run("generic", GenericHandler())
