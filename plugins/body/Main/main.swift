import BodyStage
import PluginKit

PluginProgram.run("body") { context in StageParts(stage: HandlerStage(BodyHandler(), context)) }
