import BodyStage
import HandlerKit
import StageKit

PluginProgram.run("body") { context in StageParts(handler: HandlerStage(BodyHandler(), context)) }
