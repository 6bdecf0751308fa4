import DebouncerStage
import PluginKit

PluginProgram.run(.debouncer)
