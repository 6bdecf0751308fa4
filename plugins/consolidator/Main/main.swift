import ConsolidatorStage
import StageKit

PluginProgram.run("consolidator") { context in
    StageParts(stage: try ConsolidatorStage(stack: context.stack, instance: context.instance))
}
