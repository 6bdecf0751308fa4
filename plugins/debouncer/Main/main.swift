import DebouncerStage
import StageKit

PluginProgram.run("debouncer") { context in
    StageParts(stage: try DebouncerStage(stack: context.stack, instance: context.instance))
}
