import DebouncerStage
import StageKit

PluginProgram.run(.debouncer)
