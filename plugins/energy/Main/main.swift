import EnergyStage
import PluginKit

PluginProgram.run("energy", EnergyHandler())
