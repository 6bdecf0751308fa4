import BodyStage
import PluginKit

PluginProgram.run("body", BodyHandler())
