import GenericStage
import HandlerKit
import StageKit

PluginProgram.run("generic", GenericHandler())
