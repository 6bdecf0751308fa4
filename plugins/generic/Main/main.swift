import GenericStage
import HandlerKit
import StageKit

PluginProgram.run("generic") { context in StageParts(handler: HandlerStage(GenericHandler(), context)) }
