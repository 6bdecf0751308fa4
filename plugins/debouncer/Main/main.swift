import DebouncerStage
import PluginKit

PluginProgram.run("debouncer") { context in
    StageParts(stage: try DebouncerStage(stack: context.stack, instance: context.instance))
}
