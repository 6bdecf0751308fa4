import BodyStage
import HandlerKit
import StageKit

PluginProgram.run("body", BodyHandler())
