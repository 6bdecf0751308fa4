import PluginKit
import BodyStage

PluginProgram.run("body") { context in StageParts(stage: HandlerStage(BodyHandler(), context)) }
