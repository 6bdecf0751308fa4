import ConsolidatorStage
import PluginKit

PluginProgram.run("consolidator") { context in
    StageParts(stage: try ConsolidatorStage(stack: context.stack, instance: context.instance))
}
