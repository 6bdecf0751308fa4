import PluginKit
import GenericStage

PluginProgram.run("generic") { context in StageParts(stage: HandlerStage(GenericHandler(), context)) }
