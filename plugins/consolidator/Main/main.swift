import ConsolidatorStage
import PluginKit

PluginProgram.run("consolidator") { context in StageParts(stage: ConsolidatorStage(stack: context.stack)) }
