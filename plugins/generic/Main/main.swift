import GenericStage
import PluginKit

PluginProgram.run("generic") { context in StageParts(stage: HandlerStage(GenericHandler(), context)) }
