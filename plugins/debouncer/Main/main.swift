import DebouncerStage
import PluginKit

PluginProgram.run("debouncer") { context in
    StageParts(stage: DebouncerStage(stack: context.stack, configuration: context.configuration))
}
